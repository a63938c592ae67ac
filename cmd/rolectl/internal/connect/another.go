package connect

import "net/url"

// At is the target of a server that the one at connected has announced; another reports whether it
// has another address. It is announced without credentials: those of the connected URL hold for it
// too, as they do for the client when it reconnects.
func (t Target) At(server, connected string) (at Target, another bool) {
	t.URL = server
	other, err := url.Parse(server)
	if err != nil {
		return t, server != connected
	}
	own, err := url.Parse(connected)
	if err != nil {
		return t, true
	}
	if other.User != nil || own.User == nil {
		return t, other.Host != own.Host
	}
	t.User, t.Password, t.Creds, t.NKey, t.UserJWT, t.Token = "", "", "", "", "", "" // the URL counts first
	if password, given := own.User.Password(); given {
		t.User, t.Password = own.User.Username(), password
	} else {
		t.Token = own.User.Username()
	}
	return t, other.Host != own.Host
}
