"""What a question loses on its way to an assistant: to the link, and to hearing."""
