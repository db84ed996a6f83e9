"""What the logs of a patch gate mean. Prints nothing and knows no terminal."""
