package assign

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// Records of those who steer. Each is removed by an empty record in its place that the server drops after a moment
// (minRetention): the stream refuses deletes.

// steerRecord is the data at p.<kind>, d.<instance> and x.<task>: it stands, so it holds.
type steerRecord struct {
	Version int    `json:"v"`
	By      string `json:"by,omitempty"` // who asked, for people
	Reason  string `json:"reason,omitempty"`
}

func decodeSteer(data []byte) (s steerRecord, err error) {
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("%w: %w", errRecord, err)
	}
	if s.Version != 1 {
		return s, errRecord
	}
	return s, nil
}

// keysRecord is the header Task-Keys.
type keysRecord struct {
	Unique string `json:"unique,omitempty"` // the digest
	Sticky string `json:"sticky,omitempty"`
	Limit  string `json:"limit,omitempty"`
}

func parseKeys(header string) (*tasks.Keys, error) {
	if header == "" {
		return nil, nil
	}
	var k keysRecord
	if err := json.Unmarshal([]byte(header), &k); err != nil {
		return nil, fmt.Errorf("%w: %w", errRecord, err)
	}
	if k.Unique != "" && !isDigest(k.Unique) {
		return nil, fmt.Errorf("%q is no digest of a unique key", k.Unique)
	}
	if len(k.Sticky) > maxKey || len(k.Limit) > maxKey {
		return nil, fmt.Errorf("a key of more than %d bytes", maxKey)
	}
	return &tasks.Keys{Unique: k.Unique, Sticky: k.Sticky, Limit: k.Limit}, nil
}

// uniqueDigest is what stands for a kind and a key in a subject.
func uniqueDigest(kind, key string) string {
	sum := sha256.Sum256([]byte(kind + "\x00" + key))
	return base64.RawURLEncoding.EncodeToString(sum[:18])
}

// isDigest reports whether a text may be one: it becomes part of a subject.
func isDigest(text string) bool {
	sum, err := base64.RawURLEncoding.DecodeString(text)
	return err == nil && len(sum) == 18 && len(text) == base64.RawURLEncoding.EncodedLen(18) // the decoder passes over line breaks
}

// uniqueRecord is the data at u.<digest>: the task that has the key, as long as it is open.
type uniqueRecord struct {
	Version int    `json:"v"`
	Task    string `json:"task"`
	Kind    string `json:"kind"`
	Key     string `json:"key"`
}

func decodeUnique(data []byte) (u uniqueRecord, err error) {
	if err := json.Unmarshal(data, &u); err != nil {
		return u, fmt.Errorf("%w: %w", errRecord, err)
	}
	if u.Version != 1 || !protocol.ValidName(u.Task) {
		return u, errRecord
	}
	return u, nil
}

// headerAttempt is the header of c.<task>: the attempt that has left it, epoch.n. The data is the checkpoint.
const headerAttempt = "Task-Attempt"

// objectRecord is the data of an outcome whose output is in the object store.
type objectRecord struct {
	Name   string `json:"name"`
	Size   int    `json:"size"`
	Digest string `json:"digest"` // SHA-256=…, as the store says
}

// maxOutput is what MaxResult may be at most, in bytes.
const maxOutput = 1 << 30

func decodeObject(data []byte) (o objectRecord, err error) {
	if err := json.Unmarshal(data, &o); err != nil {
		return o, fmt.Errorf("%w: %w", errRecord, err)
	}
	if o.Name == "" || o.Size < 0 || o.Size > maxOutput {
		return o, fmt.Errorf("%w: object %.100q of %d bytes", errRecord, o.Name, o.Size)
	}
	return o, nil
}

// patience is how long a first try to read the object may take.
func (o *objectRecord) patience() time.Duration {
	return readWithin + time.Duration(o.Size>>20)*time.Second
}

// recurRecord is the data at r.<name>.
type recurRecord struct {
	Version int               `json:"v"`
	Spec    string            `json:"spec"` // five fields, or @every and the like
	Zone    string            `json:"zone"` // of the IANA database
	Missed  string            `json:"missed"`
	Grace   int64             `json:"grace_ms"`
	Task    policy            `json:"task"`
	Meta    map[string]string `json:"meta,omitempty"`
	Input   []byte            `json:"input"`
}

// tickRecord is the data at k.<name>.
type tickRecord struct {
	Version int       `json:"v"`
	Tick    time.Time `json:"tick"`
}

func encodeTick(tick time.Time) ([]byte, error) { return json.Marshal(tickRecord{1, tick.UTC()}) }

func decodeTick(data []byte) (time.Time, error) {
	var t tickRecord
	if err := json.Unmarshal(data, &t); err != nil {
		return time.Time{}, fmt.Errorf("%w: %w", errRecord, err)
	}
	if t.Version != 1 || t.Tick.IsZero() {
		return time.Time{}, errRecord
	}
	return t.Tick, nil
}

// tickPrefix begins the ids of tasks that a recurrence has submitted: nobody else may use it.
const tickPrefix = "cron/"

// maxRecurrence bounds the name of a recurrence, in bytes: tickID is a name too.
const maxRecurrence = 200 - len(tickPrefix) - len("/20060102T150405Z")

// tickID is the id of the task of one tick: whoever fires it a second time finds it there.
func tickID(name string, tick time.Time) string {
	return tickPrefix + name + "/" + tick.UTC().Format("20060102T150405Z")
}
