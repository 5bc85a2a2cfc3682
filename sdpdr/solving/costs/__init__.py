"""What each solver would cost in each form: predicted from sizes, cliques and fill."""
