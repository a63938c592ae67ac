//go:build race

package propertytests_test

const (
	// boundaryStep: at every so-many-th write a scheduler is lost. The race detector makes each run ten times as long.
	boundaryStep = 7
	// taskStormHours is how many virtual hours the storms of tasks last together.
	taskStormHours = 0.3
)
