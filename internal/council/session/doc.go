// Package session is the session folder of the Council: what a person thought aloud, what was heard of it, and what
// oracles answered.
//
//	{Folder}/{id}/metadata.json       the Session
//	{Folder}/{id}/audio/              {seq}_audio.{ending}
//	{Folder}/{id}/transcripts/        {seq}_audio.txt
//	{Folder}/{id}/llm_responses/      {seq}_{oracle}.txt
//	{Folder}/.trash/                  sessions that were deleted
//	{Folder}/.locks/                  an empty file for each session, for those who change it
//
// Guarantees:
//   - Whole. metadata.json holds its old content or its new one. What it tells of is on the disk before it is written:
//     a crash leaves at most a file that it does not tell of, which the same call again, or Repair, takes in. Nothing
//     is lost, and nothing stands there twice.
//   - One at a time. Whoever changes a session holds its lock, in all processes, and reads it anew under it. Reading
//     needs no lock.
//   - Kept. Members that are not known here stay in metadata.json with their values, in their place, at every level; so
//     does the way in which a known one is written, as long as its value stays.
//   - Confined. Nothing outside of Folder is read or written. No symbolic link is followed, and no name from outside
//     becomes the name of a file.
//   - Never removed. Deleting moves a session to the trash; an entry is never dropped. What Repair removes are
//     temporary files of its own.
//
// The trash lies in Folder itself: a folder elsewhere could be on another disk, where a move is a copy that a crash
// cuts short.
package session
