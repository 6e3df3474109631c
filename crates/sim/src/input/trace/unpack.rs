//! The compression of a trace: gzip, Zstandard, bzip2, xz, a tar and a zip archive, in any order, detected by their
//! first bytes, whatever the file's name.

use std::io::{self, BufRead, BufReader, Read};

use tar::{EntryType, Header};

use super::library::Library;
use super::queues;
use super::zip::{self, NextFile, Zip};

/// First bytes of a gzip member (RFC 1952, section 2.3.1).
const GZIP: &[u8] = &[0x1F, 0x8B];

/// The most nested layers. More cannot be a trace.
const LAYERS: usize = 4;

/// Bytes that are buffered between two layers.
const BUFFER: usize = 64 << 10;

/// Unpacks bytes through all layers.
pub(super) fn unpack(source: impl Read + 'static) -> io::Result<Box<dyn Read>> {
    let mut source: Box<dyn Read> = Box::new(source);
    for _ in 0..LAYERS {
        let mut packed = BufReader::with_capacity(BUFFER, source);
        let head = match packed.fill_buf() {
            // Nothing is left of what was cut short. Whoever reads on hears of it again.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => &[],
            head => head?,
        };
        source = if head.starts_with(GZIP) {
            Box::new(flate2::bufread::MultiGzDecoder::new(packed))
        } else if let Some(library) = Library::of(head) {
            library.unpacked(packed)?
        } else if head.starts_with(zip::ENTRY) {
            Box::new(Zip::new(packed))
        } else if header(head).is_some() {
            Box::new(Tar { packed, left: 0, padding: 0, taken: None, is_cut: false })
        } else {
            return Ok(Box::new(packed));
        };
    }
    Ok(source)
}

/// Bytes of a tar's blocks: a header has one, contents are padded to whole ones.
const TAR_BLOCK: usize = 512;

/// The header of a tar entry at the beginning of these bytes.
fn header(head: &[u8]) -> Option<Header> {
    let bytes = head.get(..TAR_BLOCK)?;
    let mut header = Header::new_old();
    header.as_mut_bytes().copy_from_slice(bytes);
    // The sum of all bytes, with its own eight counted as blanks.
    let sum: u32 = bytes[..148].iter().chain(&bytes[156..]).map(|byte| u32::from(*byte)).sum();
    (header.cksum().ok()? == sum + 8 * u32::from(b' ') && bytes[0] != 0).then_some(header)
}

/// The one file in a tar; or the queues of one trace, one after the other.
struct Tar<R> {
    packed: R,
    /// Bytes left of the present entry, and after it up to the next header.
    left: u64,
    padding: u64,
    /// The name of the previous file.
    taken: Option<String>,
    /// Whether it ended within a header: whoever reads on hears of it again.
    is_cut: bool,
}

impl<R: BufRead> Tar<R> {
    /// Advances to the next file entry.
    fn next(&mut self) -> io::Result<NextFile> {
        loop {
            io::copy(&mut (&mut self.packed).take(self.padding), &mut io::sink())?;
            self.padding = 0;
            let mut block = [0; TAR_BLOCK];
            let mut filled = 0;
            while filled < TAR_BLOCK {
                match self.packed.read(&mut block[filled..])? {
                    0 => break,
                    count => filled += count,
                }
            }
            if !self.is_cut && block.iter().all(|byte| *byte == 0) {
                return Ok(NextFile::None);
            }
            if filled < TAR_BLOCK {
                self.is_cut = true;
            }
            if self.is_cut {
                return Err(cut("the tar ends within a header"));
            }
            let header =
                header(&block).ok_or_else(|| invalid("a header of the tar is damaged".into()))?;
            let size = header.entry_size()?;
            let name = String::from_utf8_lossy(&header.path_bytes()).into_owned();
            let file = name.rsplit('/').next().unwrap_or_default();
            let is_file = matches!(header.entry_type(), EntryType::Regular | EntryType::Continuous);
            let is_beside = queues::is_beside_queues(file);
            let padded = size.next_multiple_of(TAR_BLOCK as u64);
            if !is_file || is_beside {
                self.padding = padded;
                continue;
            }
            if let Some(first) =
                self.taken.replace(name.clone()).filter(|_| !queues::is_queue(file))
            {
                return Err(invalid(format!(
                    "the tar holds several files ({first}, {name}): unpack it, and name them or their folder"
                )));
            }
            (self.left, self.padding) = (size, padded - size);
            return Ok(NextFile::Begun);
        }
    }
}

fn invalid(reason: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

/// What can be read up to there, if that is asked for.
fn cut(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, reason)
}

impl<R: BufRead> Read for Tar<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.left == 0 {
            if self.next()? == NextFile::None {
                return Ok(0);
            }
        }
        let count = (&mut self.packed).take(self.left).read(buffer)?;
        if count == 0 && !buffer.is_empty() {
            return Err(cut("the tar ends within a file"));
        }
        self.left -= count as u64;
        Ok(count)
    }
}

#[cfg(all(test, feature = "compression"))]
mod tests {
    use std::io::Write;

    use super::*;

    fn unpacked(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
        let mut plain = Vec::new();
        unpack(io::Cursor::new(bytes))?.read_to_end(&mut plain)?;
        Ok(plain)
    }

    fn tarred(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut tar = tar::Builder::new(Vec::new());
        let mut folder = Header::new_gnu();
        folder.set_entry_type(EntryType::Directory);
        folder.set_size(0);
        tar.append_data(&mut folder, "folder/", io::empty()).unwrap();
        for (name, content) in files {
            let mut header = Header::new_gnu();
            header.set_size(content.len() as u64);
            tar.append_data(&mut header, name, *content).unwrap();
        }
        tar.into_inner().unwrap()
    }

    fn gzipped(bytes: &[u8]) -> Vec<u8> {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(bytes).unwrap();
        gzip.finish().unwrap()
    }

    fn bzipped(bytes: &[u8]) -> Vec<u8> {
        let mut bzip = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        bzip.write_all(bytes).unwrap();
        bzip.finish().unwrap()
    }

    fn xzipped(bytes: &[u8]) -> Vec<u8> {
        let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 1);
        xz.write_all(bytes).unwrap();
        xz.finish().unwrap()
    }

    #[test]
    fn packings_are_undone_whatever_the_name_and_over_several_members() {
        let plain = b"1\n2\n3\n".repeat(100_000);
        let zstd = |bytes: &[u8]| zstd::encode_all(bytes, 1).unwrap();
        for pack in [gzipped, bzipped, xzipped, zstd] {
            assert_eq!(unpacked(pack(&plain)).unwrap(), plain);
            assert_eq!(unpacked([pack(&plain), pack(&plain)].concat()).unwrap().len(), 1_200_000);
        }
    }

    #[test]
    fn the_one_file_of_a_tar_is_taken_and_several_are_refused() {
        let one = tarred(&[("folder/a.csv", b"0,R,0,512\n")]);
        assert_eq!(unpacked(one.clone()).unwrap(), b"0,R,0,512\n");
        assert_eq!(unpacked(xzipped(&one)).unwrap(), b"0,R,0,512\n");
        let packed = tarred(&[("a.csv.gz", &gzipped(b"1\n"))]);
        assert_eq!(unpacked(packed).unwrap(), b"1\n");
        let two = tarred(&[("a.csv", b"1\n"), ("b.csv", b"2\n")]);
        let said = unpacked(two).unwrap_err().to_string();
        assert!(said.contains("several files (a.csv, b.csv)"), "{said}");
        for length in [TAR_BLOCK + 7, TAR_BLOCK * 2 + 4] {
            let said = unpacked(one[..length].to_vec()).unwrap_err();
            assert_eq!(said.kind(), io::ErrorKind::UnexpectedEof, "{said}");
        }
    }

    #[test]
    fn queues_of_one_trace_are_taken_together_and_what_stands_beside_them_is_not() {
        let files: [(&str, &[u8]); 3] =
            [("t/octf.summary", b"{}"), ("t/octf.trace.0", b"ab"), ("t/octf.trace.1", b"c")];
        assert_eq!(unpacked(tarred(&files)).unwrap(), b"abc");
    }
}
