//go:build !race

package storms_test

const (
	// stormHours is how many virtual hours the storms last together: most shapes for 2 hours, "one
	// role" for 40, "short" for 9 minutes, many roles for 4, and many processes for 1. The weather
	// that it is then continues to its calm, and comes again until every fault has struck.
	stormHours = 48.0
	// stormLull is how long the quiet between them is, against what each shape says. The quiet
	// costs as much as the storms, for each hour, and in half of it as many faults strike in half
	// of the hours.
	stormLull = 0.5
	// taskStormHours is how many virtual hours the storms of tasks last together.
	taskStormHours = 2.0

	// manyProcesses are candidates of one role, manyRoles those of each process.
	manyProcesses = 30
	manyRoles     = 300
)

// unraced are the shapes that are left out: none without the race detector.
var unraced []string
