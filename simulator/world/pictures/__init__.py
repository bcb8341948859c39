"""Pictures of the fictional world: egocentric scenes and catalogue pictures, drawn by program."""
