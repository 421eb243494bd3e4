// Package session stores the sessions of the Council in folders: the recordings, their transcripts, and the answers of
// oracles.
//
//	{Folder}/{id}/metadata.json       the Session
//	{Folder}/{id}/audio/              {seq}_audio.{ending}
//	{Folder}/{id}/transcripts/        {seq}_audio.txt
//	{Folder}/{id}/llm_responses/      {seq}_{oracle}.txt
//	{Folder}/.trash/                  deleted sessions
//	{Folder}/.locks/                  an empty lock file for each session
//
// Guarantees:
//   - Atomic. metadata.json has either its old content or its new one. Files are on the disk before it lists them: a
//     crash leaves at most an unlisted file, which Repair or a repetition of the same call adds. Nothing is lost or
//     added twice.
//   - Exclusive. A change holds the lock of its session, across all processes, and reads the session again under it.
//     Reading needs no lock.
//   - Preserved. Unknown members stay in metadata.json with their values, in their place, at every level; so does the
//     notation of a known member whose value does not change.
//   - Confined. Nothing outside of Folder is read or written. No symbolic link is followed, and no name from outside
//     becomes the name of a file.
//   - Never removed. Deleting moves a session to the trash; an entry is never dropped. Repair removes only temporary
//     files of this package.
//
// The trash is inside Folder: elsewhere it could be on another disk, where a move is a copy that a crash can leave
// incomplete.
package session
