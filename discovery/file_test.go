package discovery

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// replace puts a text in the place of a file, as the documentation tells.
func replace(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		t.Fatal(err)
	}
}

func TestFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "servers")
	replace(t, file, "# the servers\n\nb:4223 east\nnats://a  west\nnats://a:4222 west\ntls://[::1]:1\n")
	source := File{Path: file, Every: 10 * time.Millisecond}
	list := look(t, source, nil)
	expects(t, list, Server{"nats://a:4222", "west"}, Server{"nats://b:4223", "east"}, Server{"tls://[::1]:1", ""})

	changed := waits(t, source, list)
	replace(t, file, "tls://[::1]:1\nnats://a west\nb:4223 east") // the same, in another order
	replace(t, file, "c:1\n")
	expects(t, changed.result(t), Server{"nats://c:1", ""})
}

func TestFilesThatAreNoLists(t *testing.T) {
	file := filepath.Join(t.TempDir(), "servers")
	source := File{Path: file}
	if _, err := source.Next(bound(t), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	for text, want := range map[string]string{
		"":                                       ErrEmpty.Error(),
		"# nothing\n":                            ErrEmpty.Error(),
		"a\nb west 2\n":                          "line 2 has 3 words: write the URL",
		"a\n\nhttp://b\n":                        "line 3: discovery: address \"http://b\": use nats://host:port",
		"nats://u:secret@b:99999\n":              "the port is not one",
		"nats://u:secret@b:x\n":                  "it is not a URL",
		strings.Repeat("a\n", MostServers+1):     ErrTooMany.Error(),
		strings.Repeat("# some text\n", 400_000): ErrTooLarge.Error(),
	} {
		replace(t, file, text)
		_, err := source.Next(bound(t), nil)
		failed := (*LookupError)(nil)
		if !errors.As(err, &failed) || failed.Source != "file "+file || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the password is in %v", err)
		}
	}
	_, err := File{Path: t.TempDir()}.Next(bound(t), nil)
	if err == nil || !strings.Contains(err.Error(), "regular file") {
		t.Errorf("a folder: %v", err)
	}
}

func TestStatic(t *testing.T) {
	list := look(t, Static{{URL: "b"}, {URL: "a:1", Zone: "x"}}, nil)
	expects(t, list, Server{"nats://a:1", "x"}, Server{"nats://b:4222", ""})
	ctx := bound(t)
	stopped := waits(t, Static(list), list)
	select {
	case <-stopped.list:
		t.Error("a static list has changed")
	case <-ctx.Done():
	default:
	}
	if _, err := (Static{}).Next(ctx, nil); !errors.Is(err, ErrEmpty) {
		t.Errorf("an empty list: %v", err)
	}
}
