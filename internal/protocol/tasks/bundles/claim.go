package bundles

// ClaimOf is the name of the claim of the block of an id, which no bundle has: a client stores two
// tasks or more in a bundle, and names it after the first of them. This is the name of the last.
//
// A client of an earlier commit stores a bundle on the condition that nothing stands at its name. A
// refusal tells such a client that an earlier attempt is stored, so no claim may stand there.
func ClaimOf(id string) string {
	block, _, _ := Split(id)
	return ID(block, Most-1)
}

// Standing is the record that stands among those of the bundles of a block. It is a bundle, an
// empty record in the place of one whose members have all ended, or a claim.
type Standing struct {
	Name string // "" if nothing stands
}

// Fate is what became of a bundle that the store has refused.
type Fate uint8

const (
	// FateUnknown: the reading is from before the refusal.
	FateUnknown Fate = iota
	// FateStored: an earlier attempt has stored it.
	FateStored
	// FateShutOut: it is not stored, and never will be. Each of its tasks may go alone.
	FateShutOut
)

// FateOf says what became of a bundle that was refused, by a reading since then.
func (s Standing) FateOf(bundle string) Fate {
	switch {
	case s.Name == "":
		return FateUnknown
	case s.Name == bundle:
		return FateStored
	}
	return FateShutOut
}

// Open reports whether a bundle of the block may still be stored. Then a task of the block that is
// submitted under an id that was made before has to claim the block first: a bundle with the task
// may be under way.
func (s Standing) Open() bool { return s.Name == "" }
