"""The laboratory: data sets, problems with known answers, studies, figures, the command line."""
