"""The grounded agent: twelve replaceable parts between a picture with a question and a reply."""
