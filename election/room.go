package election

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// room is what the parts of the member record take, in bytes, and how many there may be. So a role,
// or a kind of tasks, that is too many is refused when it is added. Sizes are upper bounds.
type room struct {
	most   int // 0 while it is not known
	roles  int
	meta   int
	told   int
	offers map[string]int // by namespace
}

const (
	// recordFrame is the record without its parts, writeHeader the header of its write without the
	// name of the bucket.
	recordFrame = 128
	writeHeader = 160
)

func (r *room) limit(payload int64, largest int, bucket string) {
	most := int(payload)
	if largest > 0 {
		most = min(most, largest)
	}
	r.most = max(most-writeHeader-len(bucket), 1)
}

// check reports whether there is room for so many more bytes.
func (r *room) check(more int) error {
	size := recordFrame + r.roles + r.meta + r.told + more
	for _, n := range r.offers {
		size += n
	}
	if r.most > 0 && size > r.most {
		return &TooLargeError{Size: size, Limit: r.most}
	}
	return nil
}

// makeRoom replaces the size of what SetMeta publishes.
func (s *Session) makeRoom(meta int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.room.check(meta - s.room.meta); err != nil {
		return err
	}
	s.room.meta = meta
	return nil
}

// reserve replaces the size of what is offered in a namespace.
func (s *Session) reserve(namespace string, w record.Workplace) error {
	size := len(namespace) + 4 + encodedSize(w)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.room.check(size - s.room.offers[namespace]); err != nil {
		return err
	}
	if s.room.offers == nil {
		s.room.offers = map[string]int{}
	}
	s.room.offers[namespace] = size
	return nil
}

// candidacySize is what a role takes.
func candidacySize(c RoleConfig) int {
	size := len(c.Role) + 4 + encodedSize(record.Candidacy{
		Priority: int32(c.Priority), Takeover: c.AllowPriorityTakeover, Spread: c.Spread, Group: c.Group,
	})
	if len(c.Zones) > 0 {
		size += len(`,"tier":100`) + len("104857600")
	}
	if c.While != nil {
		size += len(`,"waits":""`) + len(c.waitsFor(nil))
	}
	if len(c.Apart) > 0 {
		size += len(c.Role) + 4 + encodedSize(c.Apart)
	}
	return size
}

func encodedSize(v any) int {
	data, _ := json.Marshal(v) // of strings and numbers alone
	return len(data)
}

// learnRoom takes in what the present server, and the bucket, allow now.
func (l *loop) learnRoom(largest int) int {
	payload := l.nc.MaxPayload() // may wait for the connection, so not under the lock
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	l.s.room.limit(payload, largest, l.s.cfg.Bucket)
	return l.s.room.most
}

// tooLarge finds out how large a record may be now, and hands the outcome of a write that was too
// large to the machine.
func (l *loop) tooLarge(written protocol.Written, size int) {
	largest := l.bucket.Largest()
	ctx, cancel := context.WithTimeout(l.ctx, l.s.cfg.OpTimeout)
	defer cancel()
	if state, err := l.bucket.Inspect(ctx); err == nil {
		largest = state.Largest
	}
	fault := &TooLargeError{Size: size, Limit: l.learnRoom(largest)}
	written.TooLarge, written.Fault = true, fault
	l.s.box.Put(message{event: written, fault: fault})
}

// SetMeta replaces what the member record publishes of this process, and returns when it is stored.
// Errors: *TooLargeError, and the record keeps what it says; *ConfigError for a text that is not
// UTF-8, ErrClosed, ctx's.
func (s *Session) SetMeta(ctx context.Context, meta map[string]string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	copied := make(map[string]string, len(meta)) // not nil, which would mean no change
	maps.Copy(copied, meta)
	if err := checkMeta(copied); err != nil {
		return err
	}
	if err := s.makeRoom(encodedSize(copied)); err != nil {
		return err
	}
	_, err := s.command(ctx, func(id protocol.CommandID) protocol.Event { return protocol.Describe{ID: id, Meta: copied} })
	return err
}

// retire forgets an election that has stopped: the role may be campaigned for again.
func (s *Session) retire(e *Election) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.elections[e.cfg.Role] == e {
		delete(s.elections, e.cfg.Role)
		s.room.roles -= candidacySize(e.cfg)
	}
}
