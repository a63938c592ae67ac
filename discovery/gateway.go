package discovery

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// gateway is the JSON gateway of one member of etcd: each call of gRPC is a POST, bytes are base64,
// and 64-bit numbers are strings.
type gateway struct {
	at     *url.URL
	client *http.Client
	prefix string
	token  string // of a login
	next   int64  // the revision behind that of the last reading
}

// login gets a token for the next reading and watch, if there is a user.
func (g *gateway) login(ctx context.Context, who func() (user, password string, err error)) error {
	if who == nil {
		return nil
	}
	user, password, err := who()
	if err != nil {
		return fmt.Errorf("get the user: %w", err)
	}
	if user == "" {
		return nil
	}
	text, err := g.call(ctx, "auth/authenticate", map[string]string{"name": user, "password": password})
	if err != nil {
		return err
	}
	var says struct {
		Token string `json:"token"`
	}
	if err := json.Unmarshal(text, &says); err != nil || says.Token == "" {
		return errors.New("log in to etcd: the answer has no token")
	}
	g.token = says.Token
	return nil
}

// read is the list of all keys.
func (g *gateway) read(ctx context.Context) (list []Server, err error) {
	text, err := g.call(ctx, "kv/range", map[string]any{
		"key": []byte(g.prefix), "range_end": behind(g.prefix), "limit": strconv.Itoa(MostServers + 1),
	})
	if err != nil {
		return nil, err
	}
	list, revision, err := readRange(text)
	g.next = revision + 1
	return list, err
}

// watch waits until a key has changed, or the watch may have missed that.
func (g *gateway) watch(ctx context.Context) error {
	answer, err := g.send(ctx, "watch", map[string]any{"create_request": map[string]any{
		"key": []byte(g.prefix), "range_end": behind(g.prefix), "start_revision": strconv.FormatInt(g.next, 10),
	}})
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	lines := bufio.NewReaderSize(answer.Body, longest)
	line, err := lines.ReadSlice('\n') // the watch is created, or is not
	if err != nil {
		return err
	}
	if err := readWatch(line); err != nil {
		return err
	}
	line, err = lines.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return nil // a long one: the next reading sees what has changed
	}
	if err != nil {
		return err
	}
	return readWatch(line)
}

// call sends a request, and returns its whole answer.
func (g *gateway) call(ctx context.Context, method string, request any) ([]byte, error) {
	answer, err := g.send(ctx, method, request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	return bounded(answer.Body)
}

func (g *gateway) send(ctx context.Context, method string, request any) (*http.Response, error) {
	body, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequest(http.MethodPost, g.at.JoinPath("v3", method).String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	// A member that has lost the others ends the watch, instead of keeping silent.
	r.Header.Set("Grpc-Metadata-Hasleader", "true")
	if g.token != "" {
		r.Header.Set("Authorization", g.token)
	}
	answer, err := ask(ctx, g.client, r)
	says, is := errors.AsType[*ResponseError](err)
	switch {
	case !is:
	case says.Status == http.StatusNotFound:
		err = fmt.Errorf("%w: it needs the JSON gateway of etcd 3.4 or later (--enable-grpc-gateway)", err)
	case strings.Contains(says.Says, "user name is empty"), strings.Contains(says.Says, "invalid user ID"):
		err = fmt.Errorf("%w: give a user and its password, such as by ETCDCTL_USER", err)
	}
	return answer, err
}

// readRange reads an answer to kv/range, and at which revision it was given.
func readRange(text []byte) (list []Server, revision int64, err error) {
	var answer struct {
		Header struct {
			Revision int64 `json:"revision,string"`
		} `json:"header"`
		KVs []struct {
			Key   []byte `json:"key"`
			Value []byte `json:"value"`
		} `json:"kvs"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, 0, fmt.Errorf("read the answer of etcd: %w", err)
	}
	if answer.Header.Revision <= 0 {
		return nil, 0, errors.New("read the answer of etcd: it has no revision: check that this is etcd")
	}
	for _, kv := range answer.KVs {
		of, err := readLines(string(kv.Value))
		if err != nil {
			key := string(kv.Key)
			return nil, 0, fmt.Errorf("key %q: %w", printable(key[:min(len(key), 200)]), err)
		}
		list = append(list, of...)
		if len(list) > MostServers {
			return nil, 0, ErrTooMany
		}
	}
	return list, answer.Header.Revision, nil
}

// readWatch reads one message of a watch. A revision that was compacted is not an error: what has
// happened since may have been missed, and is read again.
func readWatch(line []byte) error {
	var message struct {
		Result struct {
			Canceled  bool   `json:"canceled"`
			Reason    string `json:"cancel_reason"`
			Compacted int64  `json:"compact_revision,string"`
		} `json:"result"`
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal(line, &message); err != nil {
		return fmt.Errorf("read the answer of etcd: %w", err)
	}
	reason := message.Error.Message
	if message.Result.Canceled && message.Result.Compacted == 0 {
		reason = cmp.Or(message.Result.Reason, "no reason given")
	}
	if reason != "" {
		return fmt.Errorf("etcd has ended it: %q", printable(reason[:min(len(reason), 200)]))
	}
	return nil
}

// behind is the first key behind all with a prefix. If there is none, it is a zero byte, which
// stands for the end of all keys.
func behind(prefix string) []byte {
	end := []byte(prefix)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i] < 0xff {
			end[i]++
			return end[:i+1]
		}
	}
	return []byte{0}
}
