package record

import (
	"encoding/binary"
	"iter"
	"strings"
)

// clientName is how many letters a client's name has (nuid's).
const clientName = 22

// Audience names the clients that are told how a task has ended. If the id looks like one that a
// client has made (<client>.<block>.<index>, or <client>.<n> of an earlier version), they are all
// that listen for the tasks of that client. Otherwise they are those that listen for this task
// alone.
func Audience(task string) string {
	client, n, made := strings.Cut(task, ".")
	if made && len(client) == clientName && strings.Count(n, ".") < 2 {
		return client
	}
	return task
}

// A bulletin holds the announcements to one audience at one time: for each task its id and its
// announcement, each after its length (a uvarint). An empty announcement says that there is an
// outcome to read.

// Enter adds an announcement to a bulletin.
func Enter(bulletin []byte, task string, announcement []byte) []byte {
	bulletin = append(binary.AppendUvarint(bulletin, uint64(len(task))), task...)
	return append(binary.AppendUvarint(bulletin, uint64(len(announcement))), announcement...)
}

// Entries are the announcements of a bulletin by task, up to the first that cannot be read. They
// are slices of the bulletin.
func Entries(bulletin []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for len(bulletin) > 0 {
			task, rest, ok := chunk(bulletin)
			if !ok {
				return
			}
			announcement, rest, ok := chunk(rest)
			if !ok || !yield(string(task), announcement) {
				return
			}
			bulletin = rest
		}
	}
}

// chunk cuts off the bytes that follow their length.
func chunk(b []byte) (first, rest []byte, ok bool) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > uint64(len(b)-size) {
		return nil, nil, false
	}
	b = b[size:]
	return b[:n:n], b[n:], true
}
