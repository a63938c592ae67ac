package scheduler

import (
	"crypto/sha256"
	"encoding/json"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// policies caches the policies of the submissions that a scheduler has read. Tasks that are
// submitted alike have the same header. Tasks that are due or expire at different times still share
// a policy, so the rules hold it once.
type policies struct {
	read   map[string]treatment                // by header, unless the header is long
	shared map[[sha256.Size]byte]*tasks.Policy // by the digest of a header without times
}

// treatment is the policy of a submission, and its times.
type treatment struct {
	policy *tasks.Policy
	times  tasks.Times
	waits  bool // for other tasks
}

const (
	maxPolicies = 10_000  // in each of the two maps; an entry that was dropped is recreated
	longHeader  = 1 << 10 // bytes; a longer header is read each time
)

func newPolicies() policies {
	return policies{map[string]treatment{}, map[[sha256.Size]byte]*tasks.Policy{}}
}

// of reads the header of a submission.
func (c *policies) of(header string) (treatment, error) {
	if t, ok := c.read[header]; ok {
		return t, nil
	}
	p, err := record.ReadPolicy(header)
	if err != nil {
		return treatment{}, err
	}
	t := treatment{times: p.Times(), waits: p.Version == record.PolicyAfter}
	if t.policy, err = c.share(p); err != nil {
		return treatment{}, err
	}
	if len(header) <= longHeader {
		if len(c.read) >= maxPolicies {
			clear(c.read)
		}
		c.read[header] = t
	}
	return t, nil
}

// share returns the one policy of all submissions that differ from p at most in their times.
func (c *policies) share(p record.Policy) (*tasks.Policy, error) {
	p.Version, p.Delay, p.At, p.Deadline = 1, 0, 0, 0
	text, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	key := sha256.Sum256(text)
	shared := c.shared[key]
	if shared == nil {
		if len(c.shared) >= maxPolicies {
			clear(c.shared)
		}
		shared = p.Shared()
		c.shared[key] = shared
	}
	return shared, nil
}

// recurrence reads a definition. The input of the recurrence must fit into a message of maxPayload
// bytes. since is from when its ticks count.
func (c *policies) recurrence(name string, e *natskv.Entry, maxPayload int) (r *tasks.Recurrence, since time.Time,
	err error,
) {
	d, err := record.ReadDefinition(name, e, int64(maxPayload))
	if err != nil {
		return nil, e.Time, err
	}
	how, err := c.of(d.TaskHeader)
	if err != nil {
		return nil, e.Time, err
	}
	return d.With(name, how.policy), d.Start(e.Time), nil
}
