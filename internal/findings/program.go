package findings

// Keys of a member's Meta under which a program may say its name and its version.
const (
	MetaProgram = "program"
	MetaVersion = "version"
)

// The built-in worker of "rolectl dev" in a bucket.
const (
	DevMember  = "rolectl-dev" // its instance, and the role whose leader hands out tasks
	ProgramDev = "rolectl dev" // its MetaProgram
)
