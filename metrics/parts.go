package metrics

import (
	"sync"

	"github.com/rolemanager/rolemanager/event"
)

// parts are the roles that sessions take part in. Sessions without a label of their own share the
// series of a role, which stay until the last of them has left it.
type parts struct {
	mu      sync.Mutex
	sharing map[part]map[string]bool // the instances
}

type part struct{ bucket, role string }

func (p *parts) join(m event.Meta, role string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := part{m.Bucket, role}
	if p.sharing == nil {
		p.sharing = map[part]map[string]bool{}
	}
	if p.sharing[key] == nil {
		p.sharing[key] = map[string]bool{}
	}
	p.sharing[key][m.Instance] = true
}

func (p *parts) has(m event.Meta, role string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sharing[part{m.Bucket, role}][m.Instance]
}

// leave reports whether nobody shares the series of the role any more. Labeled says that each
// instance has its own.
func (p *parts) leave(m event.Meta, role string, labeled bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := part{m.Bucket, role}
	delete(p.sharing[key], m.Instance)
	if len(p.sharing[key]) > 0 {
		return labeled
	}
	delete(p.sharing, key)
	return true
}

// close takes a session out of all its roles.
func (p *parts) close(m event.Meta) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, instances := range p.sharing {
		if key.bucket != m.Bucket {
			continue
		}
		if delete(instances, m.Instance); len(instances) == 0 {
			delete(p.sharing, key)
		}
	}
}
