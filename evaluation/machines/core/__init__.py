"""What a machine is asked and answers, the reference judge, and figures that describe a judge."""
