//go:build !race

package natstest

// processors is how many processors a bubble has; 0 leaves the number unchanged.
const processors = 0
