package record

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"github.com/rolemanager/rolemanager/internal/naming"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// Records of steering. An empty record in its place removes a record, and the server drops the
// empty one after a moment (minRetention): the stream refuses deletes.

// Steering is the data at p.<kind>, d.<instance> and x.<task>. It is in force for as long as the
// record exists.
type Steering struct {
	Version int    `json:"v"`
	By      string `json:"by,omitempty"` // who asked, for people
	Reason  string `json:"reason,omitempty"`
}

func DecodeSteer(data []byte) (s Steering, err error) {
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	if s.Version != 1 {
		return s, ErrRecord
	}
	return s, nil
}

// Keys is the header Task-Keys.
type Keys struct {
	Unique string `json:"unique,omitempty"` // the digest
	Sticky string `json:"sticky,omitempty"`
	Limit  string `json:"limit,omitempty"`
	Fair   string `json:"fair,omitempty"` // an earlier version does not know it, and goes by age
}

func ParseKeys(header string) (*tasks.Keys, error) {
	if header == "" {
		return nil, nil
	}
	var k Keys
	if err := json.Unmarshal([]byte(header), &k); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	if k.Unique != "" && !isDigest(k.Unique) {
		return nil, fmt.Errorf("%q is not a digest of a unique key", k.Unique)
	}
	if len(k.Sticky) > MaxKey || len(k.Limit) > MaxKey {
		return nil, fmt.Errorf("a key of more than %d bytes", MaxKey)
	}
	if len(k.Fair) > MaxFair {
		return nil, fmt.Errorf("a fair key of more than %d bytes", MaxFair)
	}
	return &tasks.Keys{Unique: k.Unique, Sticky: k.Sticky, Limit: k.Limit, Fair: k.Fair}, nil
}

// UniqueDigest is the digest that represents a kind and a key in a subject.
func UniqueDigest(kind, key string) string {
	sum := sha256.Sum256([]byte(kind + "\x00" + key))
	return base64.RawURLEncoding.EncodeToString(sum[:18])
}

// isDigest reports whether a text may be a digest, because the text becomes part of a subject.
func isDigest(text string) bool {
	sum, err := base64.RawURLEncoding.DecodeString(text)
	// the decoder passes over line breaks
	return err == nil && len(sum) == 18 && len(text) == base64.RawURLEncoding.EncodedLen(18)
}

// Unique is the data at u.<digest>. It names the task that has the key. The submission of the task
// replaces the record at revision At in its place: a reservation, or an outcome. Version 1 had no
// reservations: the record and the submission were stored in one step. At is 0 there.
type Unique struct {
	Version int    `json:"v"`
	Task    string `json:"task"`
	At      uint64 `json:"at,omitempty"`
	Kind    string `json:"kind"`
	Key     string `json:"key"`
}

// EncodeUnique makes the record of a key.
func EncodeUnique(u Unique) ([]byte, error) {
	u.Version = 2
	return json.Marshal(u)
}

func DecodeUnique(data []byte) (u Unique, err error) {
	if err := json.Unmarshal(data, &u); err != nil {
		return u, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	if u.Version < 1 || u.Version > 2 || !naming.Valid(u.Task) {
		return u, ErrRecord
	}
	return u, nil
}

// HeaderAttempt is the header of c.<task>: the attempt that has left the checkpoint, as epoch.n.
// The data is the checkpoint.
const HeaderAttempt = "Task-Attempt"

// Object is the data of an outcome whose output is in the object store.
type Object struct {
	Name   string `json:"name"`
	Size   int    `json:"size"`
	Digest string `json:"digest"` // SHA-256=…, as the store says
}

// MaxOutput is the maximum of MaxResult, in bytes.
const MaxOutput = 1 << 30

func DecodeObject(data []byte) (o Object, err error) {
	if err := json.Unmarshal(data, &o); err != nil {
		return o, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	if o.Name == "" || o.Size < 0 || o.Size > MaxOutput {
		return o, fmt.Errorf("%w: object %.100q of %d bytes", ErrRecord, o.Name, o.Size)
	}
	return o, nil
}

// Patience is how long a first try to read the object may take.
func (o *Object) Patience() time.Duration {
	return ReadWithin + time.Duration(o.Size>>20)*time.Second
}

// Recurrence is the data at r.<name>.
type Recurrence struct {
	Version int               `json:"v"`
	Spec    string            `json:"spec"` // five fields, or @every and the like
	Zone    string            `json:"zone"` // of the IANA database
	CatchUp string            `json:"catch_up"`
	Overlap string            `json:"overlap,omitempty"` // "": allowed
	Window  int64             `json:"catch_up_window_ms"`
	Task    Policy            `json:"task"`
	Meta    map[string]string `json:"meta,omitempty"`
	Input   []byte            `json:"input"`
	// DefinitionVersion orders definitions: one never replaces one of a higher version.
	DefinitionVersion int `json:"version,omitempty"`
	// Since is when the first of the definitions was stored that had this schedule, one after the
	// other: ticks count from then. Zero: this one is the first.
	Since time.Time `json:"since,omitzero"`
	// Phase is what equal distances are counted from. Zero: from when ticks count.
	Phase  time.Time `json:"phase,omitzero"`
	Paused *Steering `json:"paused,omitempty"` // nil: it has ticks
	// Fair is the fair key of its tasks.
	Fair string `json:"fair,omitempty"`
}

// TickPrefix begins the ids of tasks that a recurrence has submitted. No other task may use it.
const TickPrefix = "cron/"

// maxRecurrence bounds the name of a recurrence, in bytes, because the id of a tick's task is a
// name too.
const maxRecurrence = 200 - len(TickPrefix) - len("/20060102T150405Z")

// RunDigits is how many characters make the id of a run by hand unique. It is not longer than that
// of a tick.
const RunDigits = 12

// RunID is the id of a task that somebody has asked for beside the ticks.
func RunID(name, unique string) string { return TickPrefix + name + "/run-" + unique }

// TickID is the id of the task of one tick. A scheduler that fires the tick a second time finds the
// task there.
func TickID(name string, tick time.Time) string {
	return TickPrefix + name + "/" + tick.UTC().Format("20060102T150405Z")
}
