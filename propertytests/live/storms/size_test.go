//go:build !race

package storms_test

const (
	// stormHours is how many virtual hours the storms last together: most shapes for 3 to 5 hours,
	// "one role" for 30, "short" and many roles for 8 minutes, and many processes for 3. The weather
	// that it is then goes on to its calm, and comes again until every fault has struck.
	stormHours = 46.0
	// stormLull is how long the quiet between them is, against what each shape says.
	stormLull = 1.0
	// taskStormHours is how many virtual hours the storms of tasks last together.
	taskStormHours = 4.0

	// manyProcesses are candidates of one role, manyRoles those of each process.
	manyProcesses = 50
	manyRoles     = 500
)
