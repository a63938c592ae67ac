//go:build !race

package propertytests_test

const (
	// boundaryStep: at every so-many-th write a scheduler is lost.
	boundaryStep = 1
	// taskStormHours is how many virtual hours the storms of tasks last together.
	taskStormHours = 4.0
)
