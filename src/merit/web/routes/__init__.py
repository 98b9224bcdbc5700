"""What the server answers to, one module for each part of the API."""
