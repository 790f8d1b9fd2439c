weir cache drop nowhere
