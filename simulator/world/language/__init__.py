"""What is asked: programs that compute answers, questions in words, whole conversations."""
