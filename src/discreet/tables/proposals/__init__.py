"""What `discreet init` proposes to declare, and the public knowledge that it draws on."""
