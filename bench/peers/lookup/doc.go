// Package lookup tries the sources of package discovery on the real services that this module links
// for its peers: etcd, with its JSON gateway.
package lookup
