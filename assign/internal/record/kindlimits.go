package record

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// KindLimits is the data at l.<kind>: what the kind's programs have declared, and what an operator
// has put in its place. Clients write it, each over the revision that it has read.
type KindLimits struct {
	Version  int          `json:"v"`
	Declared *Declaration `json:"declared,omitempty"`
	Override *Override    `json:"override,omitempty"`
}

// Declaration is a kind as a program has it: its limits, and how its tasks are treated if their
// submitter does not say. Its text is kept as the program wrote it, also by versions that do not
// know all of it.
type Declaration struct {
	Version int             `json:"version"` // of the limits: a lower one never replaces a higher one
	By      string          `json:"by,omitempty"`
	Text    json.RawMessage `json:"policy"`

	Policy Policy `json:"-"` // what the text says
}

// terms are the text of a declaration: the policy, and what no submission has. An earlier version
// gives each fair key one share.
type terms struct {
	Policy
	Shares map[string]int `json:"fair_shares,omitempty"`
}

// Declare makes a declaration of a policy.
func (p *Policy) Declare(by string) (*Declaration, error) {
	d := &Declaration{Version: p.Limits, By: by, Policy: *p}
	d.Policy.Limits = 0
	if _, err := p.Encode(); err != nil {
		return d, err
	}
	text, err := json.Marshal(terms{*p, p.Shares})
	d.Text = text
	return d, err
}

// MaxShare bounds the share of a fair key.
const MaxShare = 1000

// CheckShares says what is wrong with shares, "" for nothing.
func CheckShares(shares map[string]int) string {
	for _, key := range slices.Sorted(maps.Keys(shares)) {
		if fault := CheckFair(key); fault != "" {
			return fault
		}
		if n := shares[key]; n < 1 || n > MaxShare {
			return fmt.Sprintf("%d for the key %q: use 1 to %d", n, key, MaxShare)
		}
	}
	if text, err := json.Marshal(shares); err != nil || len(text) > MaxPolicy {
		return fmt.Sprintf("%d bytes in JSON: use at most %d", len(text), MaxPolicy)
	}
	return ""
}

// Rule is a declaration as the rules see it.
func (d *Declaration) Rule() *tasks.Declaration {
	if d == nil {
		return nil
	}
	return &tasks.Declaration{Version: d.Version, Terms: string(d.Text)}
}

// Override counts instead of what is declared, limit by limit, until its time or its removal.
type Override struct {
	By          string    `json:"by,omitempty"`
	Reason      string    `json:"reason,omitempty"`
	Until       time.Time `json:"until,omitzero"`
	Concurrency *int      `json:"concurrency,omitempty"`
	Rate        *float64  `json:"rate,omitempty"`
	KeyLimit    *int      `json:"key_limit,omitempty"`
	// Shares count instead of all that are declared. An earlier version does not know them: it gives
	// each key one, and when it changes the record they are lost.
	Shares map[string]int `json:"fair_shares,omitzero"`
}

// Take takes over a declaration, and reports whether it replaces the one that there is. Errors:
// taskerr.ErrLimitsDiffer, which names both.
func (k *KindLimits) Take(own *Declaration) (taken bool, err error) {
	switch own.Rule().Beside(k.Declared.Rule()) {
	case tasks.Replaced:
		k.Declared = own
		return true, nil
	case tasks.Disputed:
		return false, fmt.Errorf("%w: version %d was declared first by %s as %s, and now by %s as %s",
			taskerr.ErrLimitsDiffer, own.Version, named(k.Declared.By), k.Declared.Text, named(own.By), own.Text)
	}
	return false, nil
}

func named(by string) string {
	if by == "" {
		return "a program without a name"
	}
	return by
}

// Seen is the record as the rules see it.
func (k *KindLimits) Seen(kind string, revision uint64, stored time.Time) tasks.LimitsSeen {
	seen := tasks.LimitsSeen{Kind: kind, Revision: revision, Stored: stored}
	if d := k.Declared; d != nil {
		seen.Declared = &tasks.Limits{Concurrency: d.Policy.Concurrency, Rate: d.Policy.Rate, KeyLimit: d.Policy.KeyLimit}
		seen.Shares = d.Policy.Shares
	}
	if o := k.Override; o != nil {
		seen.Until = o.Until
		seen.Override = &tasks.Override{Concurrency: o.Concurrency, Rate: o.Rate, KeyLimit: o.KeyLimit, Shares: o.Shares}
	}
	return seen
}

// Encode checks an override within the record, and makes the data.
func (k *KindLimits) Encode() ([]byte, error) {
	if err := k.check(); err != nil {
		return nil, err
	}
	return json.Marshal(k)
}

// DecodeKindLimits reads the data.
func DecodeKindLimits(data []byte) (k KindLimits, err error) {
	if err := json.Unmarshal(data, &k); err != nil {
		return KindLimits{}, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	if k.Version != 1 {
		return KindLimits{}, ErrRecord
	}
	return k, k.check()
}

func (k *KindLimits) check() (err error) {
	if d := k.Declared; d != nil {
		if d.Version < 0 {
			return ErrRecord
		}
		if d.Policy, err = ParsePolicy(string(d.Text)); err != nil {
			return err
		}
		var said terms
		if err := json.Unmarshal(d.Text, &said); err != nil {
			return fmt.Errorf("%w: %w", ErrRecord, err)
		}
		if fault := CheckShares(said.Shares); fault != "" {
			return fmt.Errorf("shares: %s", fault)
		}
		d.Policy.Shares = said.Shares
	}
	o := k.Override
	switch {
	case o == nil:
	case o.Concurrency != nil && (*o.Concurrency < 0 || *o.Concurrency > MaxLimit):
		return fmt.Errorf("concurrency %d: use 1 to %d, or 0 for any number", *o.Concurrency, MaxLimit)
	case o.Rate != nil && *o.Rate != 0 && !(*o.Rate >= MinRate && *o.Rate <= MaxRate):
		return fmt.Errorf("rate %v: use one a day (1.0/86400) to 1e9 per second, or 0 for any number", *o.Rate)
	case o.KeyLimit != nil && (*o.KeyLimit < 1 || *o.KeyLimit > MaxLimit):
		return fmt.Errorf("key limit %d: use 1 to %d", *o.KeyLimit, MaxLimit)
	case len(o.Reason) > MaxMeta:
		return fmt.Errorf("a reason of %d bytes: use %d at most", len(o.Reason), MaxMeta)
	default:
		if fault := CheckShares(o.Shares); fault != "" {
			return fmt.Errorf("shares: %s", fault)
		}
	}
	return nil
}
