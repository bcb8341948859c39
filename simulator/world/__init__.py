"""The fictional world: facts, questions, conversations, pages and pictures of them."""
