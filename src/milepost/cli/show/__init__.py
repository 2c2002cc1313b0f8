"""What commands print: each module shows one kind of answer to a person, or as JSON."""
