"""Weaviate: the server this project runs or reaches, the connection to it, and the store on top."""

import warnings

from authlib.deprecate import AuthlibDeprecationWarning

# Importing the client makes Authlib print, on every start, that it will move to another HTTP library one day.
# Authlib's own filter ("always") is set when it is imported, so this one comes after it, and before the client.
warnings.filterwarnings(
    "ignore", r"The httpx module is deprecated|authlib\.jose module is deprecated", AuthlibDeprecationWarning
)
