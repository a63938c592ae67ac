package gather

import "github.com/rolemanager/rolemanager/internal/protocol/record"

// lately is what went as one record, for as long as a batch takes. Such a record is answered much
// sooner than a batch, so few wait for the next one; a batch would have held all of them.
type lately struct{ sent []went }

type went struct {
	at record.Instant
	n  int
}

// add notes that n writes are sent as one record.
func (l *lately) add(now record.Instant, n int) { l.sent = append(l.sent, went{now, n}) }

// since is how many were sent since then, and forgets those before.
func (l *lately) since(then record.Instant) (n int) {
	kept := l.sent[:0]
	for _, s := range l.sent {
		if s.at >= then {
			kept = append(kept, s)
			n += s.n
		}
	}
	l.sent = kept
	return n
}
