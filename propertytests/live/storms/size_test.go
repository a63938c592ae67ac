//go:build !race

package storms_test

const (
	// stormHours is how many virtual hours the storms last together: most shapes for 4 to 16 hours,
	// "short" and many roles for 7 minutes, and many processes for 2. The weather that it is then goes
	// on to its calm, and comes again until every fault has struck.
	stormHours = 44.0
	// stormLull is how long the quiet between them is, against what each shape says.
	stormLull = 1.0
	// taskStormHours is how many virtual hours the storms of tasks last together.
	taskStormHours = 4.0

	// manyProcesses are candidates of one role, manyRoles those of each process.
	manyProcesses = 100
	manyRoles     = 1000
)
