package assign

import (
	"fmt"
	"maps"
	"reflect"

	"github.com/rolemanager/rolemanager/assign/internal/record"
)

// FairBy has the keys of a kind take turns: tenants, users, or whatever key finds in an input.
// While tasks of n keys wait, the first task of each starts within 2n tasks of the kind, however
// many tasks the others have waiting. Among the tasks of one key priority and age decide. Tasks
// with the key "" take turns as one. A key whose tasks cannot go at present passes its turn, for
// instance because of a [WithLimitKey] or of labels that no worker has. Keys whose tasks share a
// limit key take turns at it too. A key is UTF-8 of at most 200 bytes.
//
// How kinds share the workers does not change: the oldest task that waits decides among them, see
// [Priority]. In is the input of the kind, else MakeKind returns ErrInvalidKind. The key of a
// recurrence is that of its input.
func FairBy[In any](key func(In) string) KindOption {
	return func(p *record.Policy) {
		if key == nil {
			p.Refuse("FairBy", "nil", "leave it out")
			return
		}
		p.Fair = key
	}
}

// FairShares has some keys of [FairBy] go several times before it is the turn of the next: a key
// with a share of n goes n times. A key that is not there has a share of 1. While the keys whose
// tasks wait have shares of n together, the first task of each starts within 2n tasks of the kind.
// A key whose tasks cannot go at present keeps what is left of its turn; one that has no more tasks
// waiting loses it.
//
// [Declare] stores the shares with the limits of the kind, and they count from then on; submissions
// do not have them. A share is 1 to 1,000, and all of them take 8 KiB in JSON at most. The kind
// needs FairBy, else MakeKind returns ErrInvalidKind.
func FairShares(shares map[string]int) KindOption {
	shares = maps.Clone(shares)
	return func(p *record.Policy) {
		if fault := record.CheckShares(shares); fault != "" {
			p.Refuse("FairShares", fmt.Sprintf("%d keys", len(shares)), fault)
			return
		}
		p.Shares = shares
	}
}

// fairKey is what FairBy has given, nil for nothing.
func fairKey[In any](p *record.Policy) (func(In) string, error) {
	if p.Fair == nil {
		return nil, nil
	}
	key, ok := p.Fair.(func(In) string)
	if !ok {
		return nil, fmt.Errorf("FairBy has a %T: use a func(%v) string, for the input of the kind", p.Fair,
			reflect.TypeFor[In]())
	}
	return key, nil
}
