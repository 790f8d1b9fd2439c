# Each shell that is here accepts its script.
for shell in bash zsh fish; do
    weir completion "$shell" >script
    if command -v "$shell" >/dev/null; then "$shell" -n script; fi
done
