package natsrun

import (
	"bytes"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// Disk is what a store has that syncs each write, put before the paths to it: a message to one of
// its subjects takes so long, one after the other, whichever path it comes on. A batch is synced
// once, with its last message. Later messages on a path wait for earlier ones.
type Disk struct {
	Prefix string // of the subjects
	Sync   time.Duration

	mu    sync.Mutex
	free  time.Time
	alone int
	whole int
	parts int
	muted int // batches whose answer is to be lost
	quiet int // messages that come alone below a prefix, whose answer is to be lost
	below string
}

// Stored is how many messages came alone, how many batches came, and how many messages these had.
func (d *Disk) Stored() (alone, batches, inBatches int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.alone, d.whole, d.parts
}

// Mute has the next batches stored, so many of them, and not answered.
func (d *Disk) Mute(batches int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.muted = batches
}

// MuteBelow has the next messages stored that come alone to subjects with a prefix, so many of
// them, and not answered.
func (d *Disk) MuteBelow(prefix string, messages int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.below, d.quiet = prefix, messages
}

// Muted is how many messages are still to be stored and not answered, see [Disk.MuteBelow].
func (d *Disk) Muted() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.quiet
}

// mutes reports whether the answer to a message is to be lost.
func (d *Disk) mutes(subject string, part Part) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.quiet > 0 && part == Whole && strings.HasPrefix(subject, d.below) {
		d.quiet--
		return true
	}
	if d.muted == 0 || part != Commit || !strings.HasPrefix(subject, d.Prefix) {
		return false
	}
	d.muted--
	return true
}

// Before is the path with the disk at its end.
func (d *Disk) Before(path nats.CustomDialer) nats.CustomDialer { return diskPath{d, path} }

type diskPath struct {
	disk *Disk
	path nats.CustomDialer
}

func (b diskPath) Dial(network, address string) (net.Conn, error) {
	c, err := b.path.Dial(network, address)
	if err != nil {
		return nil, err
	}
	s := &syncedConn{Conn: c, disk: b.disk, ready: make(chan struct{}, 1)}
	go s.run() // until the connection is closed, or broken
	return s, nil
}

// due is when a message is stored that comes now.
func (d *Disk) due(subject string, part Part) time.Time {
	now := time.Now()
	if !strings.HasPrefix(subject, d.Prefix) {
		return now
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch part {
	case Whole:
		d.alone++
	case Inside:
		d.parts++
		return now
	case Commit:
		d.parts++
		d.whole++
	}
	if d.free.Before(now) {
		d.free = now
	}
	d.free = d.free.Add(d.Sync)
	return d.free
}

// syncedConn is one connection.
type syncedConn struct {
	net.Conn
	disk *Disk
	rest []byte // of a command whose end has not come yet

	ready  chan struct{} // size 1: a token means that there is something to do
	mu     sync.Mutex
	queue  []diskCommand
	broken error
}

// diskCommand is a command that is passed on when it is stored.
type diskCommand struct {
	data []byte
	due  time.Time
}

func (c *syncedConn) Write(p []byte) (int, error) {
	c.rest = append(c.rest, p...)
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		n, subject, part := Command(c.rest)
		if n == 0 {
			break
		}
		data := bytes.Clone(c.rest[:n])
		if c.disk.mutes(subject, part) {
			data = withoutReply(data)
		}
		c.queue = append(c.queue, diskCommand{data, c.disk.due(subject, part)})
		c.rest = append(c.rest[:0], c.rest[n:]...)
	}
	c.wake()
	return len(p), c.broken
}

func (c *syncedConn) Close() error {
	c.mu.Lock()
	if c.broken == nil {
		c.broken = net.ErrClosed
	}
	c.mu.Unlock()
	c.wake()
	return c.Conn.Close()
}

func (c *syncedConn) wake() {
	select {
	case c.ready <- struct{}{}:
	default:
	}
}

func (c *syncedConn) run() {
	for range c.ready {
		c.mu.Lock()
		queue, ended := c.queue, c.broken != nil
		c.queue = nil
		c.mu.Unlock()
		for _, x := range queue {
			time.Sleep(time.Until(x.due))
			if _, err := c.Conn.Write(x.data); err != nil {
				c.mu.Lock()
				c.broken, ended = err, true
				c.mu.Unlock()
				break
			}
		}
		if ended {
			return
		}
	}
}
