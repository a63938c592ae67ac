package record

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unique"
)

// Candidacies is what a member says about itself, role by role, in the order of their names. A
// member may take part in thousands of roles, and each process reads that of each other one. So
// lists that say the same may be shared, and what they say is never changed.
type Candidacies []RoleCandidacy

// RoleCandidacy is what a member says about itself for the role of that name.
type RoleCandidacy struct {
	Role string
	Candidacy
}

// Candidacy is what a member says about itself for one role.
type Candidacy struct {
	Priority int32 `json:"priority,omitempty"`
	Takeover bool  `json:"takeover,omitempty"`
	Eligible bool  `json:"eligible"`
	// Spread roles are led evenly by those that may take them, those of one group by themselves.
	// Others never move, and count as load of their group.
	Spread bool   `json:"spread,omitempty"`
	Group  string `json:"group,omitempty"`
	// Tier is where its zone comes in the order of the role: the higher, the sooner. Priority is the
	// rank within all tiers then. Of a role with zones it says Over instead of Takeover: members that
	// know no tiers would hand the role to another tier at once.
	Tier int32 `json:"tier,omitempty"`
	Over bool  `json:"over,omitempty"`
	// Waits names the role that it waits for, while it does not lead that one, for people to read: as
	// "local@bucket". It is not eligible then.
	Waits string `json:"waits,omitempty"`
	// Out says why else it is not eligible, for people to read: "paused" or "cooling down". A member
	// of an earlier version says nothing.
	Out string `json:"out,omitempty"`
}

// TakesOver reports whether a leader of lower priority in the same tier is to hand over to it.
func (c *Candidacy) TakesOver() bool { return c.Takeover || c.Over }

// CandidaciesOf is a list in its order.
func CandidaciesOf(said map[string]Candidacy) Candidacies {
	all := make(Candidacies, 0, len(said))
	for _, role := range slices.Sorted(maps.Keys(said)) {
		all = append(all, RoleCandidacy{role, said[role]})
	}
	return all
}

// Sort puts a list that is being made in its order.
func (c Candidacies) Sort() {
	slices.SortFunc(c, func(a, b RoleCandidacy) int { return strings.Compare(a.Role, b.Role) })
}

// Of is what is said for a role, ok whether anything is.
func (c Candidacies) Of(role string) (said Candidacy, ok bool) {
	i, ok := slices.BinarySearchFunc(c, role, func(r RoleCandidacy, role string) int {
		return strings.Compare(r.Role, role)
	})
	if !ok {
		return said, false
	}
	return c[i].Candidacy, true
}

// Same reports whether two lists are one that is shared. Others may be equal as well.
func (c Candidacies) Same(other Candidacies) bool {
	return len(c) == len(other) && (len(c) == 0 || &c[0] == &other[0])
}

// Equal reports whether two lists say the same.
func (c Candidacies) Equal(other Candidacies) bool { return c.Same(other) || slices.Equal(c, other) }

// MarshalJSON writes an object with a field for each role.
func (c Candidacies) MarshalJSON() ([]byte, error) {
	b := append(make([]byte, 0, 64*len(c)+2), '{')
	for i := range c {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendText(b, c[i].Role), ':')
		b = c[i].append(b)
	}
	return append(b, '}'), nil
}

func (c *Candidacy) append(b []byte) []byte {
	b = append(b, '{')
	if c.Priority != 0 {
		b = append(strconv.AppendInt(append(b, `"priority":`...), int64(c.Priority), 10), ',')
	}
	if c.Takeover {
		b = append(b, `"takeover":true,`...)
	}
	b = strconv.AppendBool(append(b, `"eligible":`...), c.Eligible)
	if c.Spread {
		b = append(b, `,"spread":true`...)
	}
	if c.Group != "" {
		b = appendText(append(b, `,"group":`...), c.Group)
	}
	if c.Tier != 0 {
		b = strconv.AppendInt(append(b, `,"tier":`...), int64(c.Tier), 10)
	}
	if c.Over {
		b = append(b, `,"over":true`...)
	}
	if c.Waits != "" {
		b = appendText(append(b, `,"waits":`...), c.Waits)
	}
	if c.Out != "" {
		b = appendText(append(b, `,"out":`...), c.Out)
	}
	return append(b, '}')
}

// appendText writes a text as encoding/json does.
func appendText(b []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || strings.IndexByte(`"\<>&`, c) >= 0 {
			return append(b, Encode(text)...)
		}
	}
	return append(append(append(b, '"'), text...), '"')
}

// UnmarshalJSON reads any form of that object.
func (c *Candidacies) UnmarshalJSON(b []byte) error {
	said := make(map[string]Candidacy, len(*c))
	for _, r := range *c {
		said[r.Role] = r.Candidacy
	}
	err := json.Unmarshal(b, &said)
	*c = CandidaciesOf(said)
	return err
}

// read reads the form that MarshalJSON writes, and returns false for any other one.
func (c *Candidacies) read(s *scanner) bool {
	if !s.skip('{') {
		return false
	}
	names := string(s.rest) // they share it until the list is replaced, or its names are
	all := make(Candidacies, 0, min(bytes.Count(s.rest, []byte(":{")), maxAhead))
	var last RoleCandidacy
	for said := []byte(nil); ; { // of the last role: what the next one says is often the same
		start := len(names) - len(s.rest) + 1
		name, ok := s.text()
		if !ok || !s.skip(':') || len(all) > 0 && string(name) <= last.Role {
			return false
		}
		this := RoleCandidacy{Role: names[start : start+len(name)]}
		if len(said) > 0 && bytes.HasPrefix(s.rest, said) {
			this.Candidacy, s.rest = last.Candidacy, s.rest[len(said):]
		} else {
			said = s.rest
			if !this.read(s, last.Group) {
				return false
			}
			said = said[:len(said)-len(s.rest)]
		}
		all, last = append(all, this), this
		if !s.skip(',') {
			*c = all
			return s.skip('}')
		}
	}
}

// maxAhead is how many roles at most a list has room for before they are read.
const maxAhead = 1 << 14

// read reads a candidacy, whose group is often that of the one before.
func (c *Candidacy) read(s *scanner, group string) bool {
	if !s.skip('{') {
		return false
	}
	if s.skip('}') {
		return true
	}
	for {
		field, ok := s.text()
		if !ok || !s.skip(':') {
			return false
		}
		v, ok := s.scalar()
		if !ok || !c.set(field, v, group) {
			return false
		}
		if !s.skip(',') {
			return s.skip('}')
		}
	}
}

func (c *Candidacy) set(field []byte, v scalar, group string) bool {
	switch string(field) {
	case "priority":
		return v.int32(&c.Priority)
	case "takeover":
		return v.bool(&c.Takeover)
	case "eligible":
		return v.bool(&c.Eligible)
	case "spread":
		return v.bool(&c.Spread)
	case "group":
		if v.kind == textual && string(v.letters) == group {
			c.Group = group
			return true
		}
		return v.text(&c.Group)
	case "tier":
		return v.int32(&c.Tier)
	case "over":
		return v.bool(&c.Over)
	case "waits":
		return v.text(&c.Waits)
	case "out":
		return v.text(&c.Out)
	}
	return false
}

// shareGroups has the roles of one group share its name: there may be thousands.
func (c Candidacies) shareGroups() {
	raw, shared := "", ""
	for i := range c {
		if c[i].Group != raw {
			raw = c[i].Group
			shared = unique.Make(raw).Value()
		}
		c[i].Group = shared
	}
}
