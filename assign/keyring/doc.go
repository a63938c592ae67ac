// Package keyring is the [assign.Codec] that comes with the library: AES-256 in GCM, with keys that
// have ids.
//
// A ring has one key that seals, and any number of keys that open. To change the key, first give
// the new one to every process as a key that opens, then have it seal, and remove the old one when
// nothing is left that it has sealed: when the last task and the last outcome have left the stream.
//
// Each value is sealed under a key of its own, which HKDF makes of the secret and of 16 random
// bytes. So one secret may seal any number of values. A sealed value is larger by 44 bytes, and by
// the id of its key.
package keyring
