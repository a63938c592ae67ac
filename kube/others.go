package kube

import (
	"encoding/json"
	"strings"
)

// others are the fields of an object, by name, as they were read. A write sends those that this
// package does not know as they were, so that they stay.
type others map[string]json.RawMessage

// with is the JSON of an object with the fields of known, and those of others beside them.
func (o others) with(known any) ([]byte, error) {
	text, err := json.Marshal(known)
	if err != nil || len(o) == 0 {
		return text, err
	}
	all := others{}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	names := map[string]bool{} // encoding/json reads a name in any case
	for name := range all {
		names[strings.ToLower(name)] = true
	}
	for name, value := range o {
		if !names[strings.ToLower(name)] {
			all[name] = value
		}
	}
	return json.Marshal(all)
}

type (
	plainSlice    slice
	plainMetadata metadata
)

// MarshalJSON implements json.Marshaler.
func (s slice) MarshalJSON() ([]byte, error) { return s.others.with(plainSlice(s)) }

// UnmarshalJSON implements json.Unmarshaler.
func (s *slice) UnmarshalJSON(text []byte) error {
	*s = slice{}
	if err := json.Unmarshal(text, (*plainSlice)(s)); err != nil {
		return err
	}
	return json.Unmarshal(text, &s.others)
}

// MarshalJSON implements json.Marshaler.
func (m metadata) MarshalJSON() ([]byte, error) { return m.others.with(plainMetadata(m)) }

// UnmarshalJSON implements json.Unmarshaler.
func (m *metadata) UnmarshalJSON(text []byte) error {
	*m = metadata{}
	if err := json.Unmarshal(text, (*plainMetadata)(m)); err != nil {
		return err
	}
	return json.Unmarshal(text, &m.others)
}
