"""The link from the glasses to the assistant: what is sent of a picture, and how long it takes."""
