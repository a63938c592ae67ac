package natsrun

import (
	"net"
	"sync"
)

// links are the paths that a server or a cluster has made for its clients. The owner closes them
// when it ends.
type links struct {
	mu   sync.Mutex
	made []*Link
}

// add adds a link.
func (ls *links) add(l *Link) *Link {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.made = append(ls.made, l)
	return l
}

// addTCP makes a link that leads to whichever address the client asks for, and adds it.
func (ls *links) addTCP() *Link { return ls.add(NewLink(&net.Dialer{Timeout: readyWithin})) }

// close closes all links, and returns when every goroutine of theirs has ended.
func (ls *links) close() {
	ls.mu.Lock()
	made := ls.made
	ls.made = nil
	ls.mu.Unlock()
	for _, l := range made {
		l.Close()
	}
}
