package natsrun

import (
	"bytes"
	"strconv"
	"strings"
)

// Part is what a message is of a batch.
type Part uint8

const (
	Whole  Part = iota // it is not in a batch
	Inside             // more is to come
	Commit             // it is the last one
)

// Command is the length of the first command in buf that a client sends, 0 when its end is not
// there, the subject that it publishes to, and what it is of a batch.
func Command(buf []byte) (n int, subject string, part Part) {
	i := bytes.Index(buf, []byte("\r\n"))
	if i < 0 {
		return 0, "", Whole
	}
	n = i + 2
	words := strings.Fields(string(buf[:i]))
	if len(words) < 3 || words[0] != "PUB" && words[0] != "HPUB" {
		return n, "", Whole
	}
	size, err := strconv.Atoi(words[len(words)-1])
	if err != nil {
		return n, "", Whole
	}
	if n += size + 2; n > len(buf) {
		return 0, "", Whole
	}
	if header, err := strconv.Atoi(words[len(words)-2]); err == nil && words[0] == "HPUB" && header <= size {
		switch of := buf[i+2 : i+2+header]; {
		case bytes.Contains(of, []byte("\r\nNats-Batch-Commit:")):
			part = Commit
		case bytes.Contains(of, []byte("\r\nNats-Batch-Id:")):
			part = Inside
		}
	}
	return n, words[1], part
}

// withoutReply is an HPUB command that asks for no answer.
func withoutReply(command []byte) []byte {
	line, rest, _ := bytes.Cut(command, []byte("\r\n"))
	words := strings.Fields(string(line))
	if len(words) != 5 {
		return command
	}
	return append([]byte(strings.Join([]string{words[0], words[1], words[3], words[4]}, " ")+"\r\n"), rest...)
}
