package assign

import (
	"encoding/json"
	"fmt"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// policies are those of the submissions that a scheduler has read. Tasks that are submitted alike have the same header; those
// that are due or expire at times of their own share a policy all the same, so that the books hold it once.
type policies struct {
	read   map[string]treatment     // by header
	shared map[string]*tasks.Policy // by header without times
}

// treatment is what a submission says of how it is to be treated.
type treatment struct {
	policy *tasks.Policy
	times  tasks.Times
}

// maxPolicies bounds each of the two. What is dropped is read anew, and shared anew.
const maxPolicies = 10_000

func newPolicies() policies {
	return policies{map[string]treatment{}, map[string]*tasks.Policy{}}
}

// of reads the header of a submission.
func (c *policies) of(header string) (treatment, error) {
	if t, ok := c.read[header]; ok {
		return t, nil
	}
	p, err := readPolicy(header)
	if err != nil {
		return treatment{}, err
	}
	t := treatment{times: p.times()}
	if t.policy, err = c.share(p); err != nil {
		return treatment{}, err
	}
	if len(c.read) >= maxPolicies {
		clear(c.read)
	}
	c.read[header] = t
	return t, nil
}

// share is the policy of all that are treated like this, but for their times.
func (c *policies) share(p policy) (*tasks.Policy, error) {
	p.Delay, p.Deadline = 0, 0
	key, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	shared := c.shared[string(key)]
	if shared == nil {
		if len(c.shared) >= maxPolicies {
			clear(c.shared)
		}
		shared = p.shared()
		c.shared[string(key)] = shared
	}
	return shared, nil
}

// readPolicy is parsePolicy for a header of any size.
func readPolicy(header string) (policy, error) {
	if len(header) > 2*maxPolicy {
		return policy{}, fmt.Errorf("a policy of %d bytes", len(header))
	}
	return parsePolicy(header)
}
