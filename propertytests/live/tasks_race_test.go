//go:build race

package live_test

// boundaryStep: at every so-many-th write a scheduler is lost. The race detector makes each run ten times as long.
const boundaryStep = 7
