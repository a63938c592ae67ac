package deploys

import (
	"bytes"
	"fmt"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/assign/keyring"
)

// build is one version of the program. Builds count from 1.
type build int

// order is what a task is to do.
type order struct {
	Run  time.Duration // each attempt
	Fail int           // so many attempts fail first; maxAttempts: all
}

// Inputs of the kind whose shape changes with each build: the same field, of another type.
type (
	evenShape struct{ Count int }
	oddShape  struct{ Count string }
)

const (
	maxAttempts = 4
	kept        = 2 * time.Hour // outcomes
)

var common = []assign.KindOption{
	assign.MaxAttempts(maxAttempts), assign.Backoff(time.Second, 10*time.Second), assign.Retention(kept),
}

func kind[In any](name string, more ...assign.KindOption) assign.Kind[In, string] {
	return assign.NewKind[In, string](name, append(append([]assign.KindOption{}, common...), more...)...)
}

var (
	stable = kind[order]("stable")
	// whole completes a group. It returns how the members have ended.
	whole = assign.NewKind[assign.GroupRef, assign.GroupStatus]("whole", common...)
	// relay runs after another task, and returns the output of that.
	relay = kind[assign.Ref[string]]("relay")
)

// job is a kind that one build submits, and the next one still runs.
func (b build) job() assign.Kind[order, string] { return kind[order](fmt.Sprint("job-", int(b))) }

// bounded is a kind whose limit each build raises or lowers.
func (b build) bounded() assign.Kind[order, string] {
	return kind[order]("bounded", assign.Concurrency(b.concurrency()), assign.LimitsVersion(int(b)))
}

func (b build) concurrency() int { return []int{2, 5, 3, 1, 4}[b%5] }

var (
	even = kind[evenShape]("shaped")
	odd  = kind[oddShape]("shaped")
)

// ring seals with the key of the build, and opens those of its neighbours: a key is known
// everywhere before something is sealed with it.
func (b build) ring() (*keyring.Ring, error) {
	key := func(n build) keyring.Key {
		return keyring.Key{ID: fmt.Sprint("k", int(n)), Secret: bytes.Repeat([]byte{byte(n)}, 32)}
	}
	return keyring.New(key(b), key(b-1), key(b+1))
}
