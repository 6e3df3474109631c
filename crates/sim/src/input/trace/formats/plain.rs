//! Our own format: lines of `time_us,op,offset,length`, all in bytes, op one of R, W, T (trim) and F (flush). A line
//! with these names may head it. The time may have decimals. A fifth field may say how long a write's data is expected
//! to live: `short`, `medium`, `long` or `extreme`.

use super::format::{Format, Line, Lines, first_line_parses, headed};
use crate::input::trace::fields::Cursor;
use crate::input::trace::{Op, Request, lifetime};

pub(super) const FORMAT: Format = Format {
    name: "csv",
    title: "our own: time_us,op,offset,length[,lifetime]; op R, W, T or F; bytes",
    recognise: |head| first_line_parses(head, parse),
    parser: |_| Lines::boxed(EXPECTED, parse),
};

const EXPECTED: &str = "`time_us,op,offset,length`, op R, W, T or F, and perhaps a fifth field: short, medium, \
    long or extreme";

const HEADING: &[u8] = b"time_us,op,offset,length";
const WITH_LIFETIME: &[u8] = b"time_us,op,offset,length,lifetime";

fn parse(line: &[u8]) -> Option<Line> {
    let heading = if line == WITH_LIFETIME { WITH_LIFETIME } else { HEADING };
    headed(line, heading, request)
}

#[inline]
fn request(line: &[u8]) -> Option<Request> {
    let mut cursor = Cursor::new(line);
    let time = cursor.time(1_000)?;
    cursor.pass(b',')?;
    let op = match cursor.byte()? {
        b'R' | b'r' => Op::Read,
        b'W' | b'w' => Op::Write,
        b'T' | b't' => Op::Trim,
        b'F' | b'f' => Op::Flush,
        _ => return None,
    };
    cursor.pass(b',')?;
    let offset = cursor.number()?;
    cursor.pass(b',')?;
    let length = cursor.number()?;
    let request = Request::new(time, op, offset, length);
    if cursor.at_end() {
        return Some(request);
    }
    cursor.pass(b',')?;
    Some(request.living(lifetime::of_word(cursor.word())?)).filter(|_| cursor.at_end())
}

#[cfg(test)]
mod tests {
    use ftl_iface::Lifetime;
    use nand_model::part::Nanos;

    use super::super::tests::{bad, parse as parse_all};
    use super::*;

    #[test]
    fn lines_are_requests_with_and_without_heading() {
        let text = "0,R,0,4096\n300079,W,4294901760,512\r\n300080.5,T,0,1048576\n300081,F,0,0\n";
        let request =
            |nanos, op, offset, length| Request::new(Nanos::new(nanos), op, offset, length);
        let expected = [
            request(0, Op::Read, 0, 4096),
            request(300_079_000, Op::Write, 4_294_901_760, 512),
            request(300_080_500, Op::Trim, 0, 1_048_576),
            request(300_081_000, Op::Flush, 0, 0),
        ];
        assert_eq!(parse_all(&FORMAT, text), expected);
        assert_eq!(parse_all(&FORMAT, format!("time_us,op,offset,length\n\n{text}")), expected);
    }

    #[test]
    fn a_fifth_field_is_the_lifetime_of_a_write() {
        let text = "time_us,op,offset,length,lifetime\n0,W,0,512,short\n1,W,0,512,\n2,R,0,512,long\n3,W,0,512\n";
        let expected = [Lifetime::Short, Lifetime::Unknown, Lifetime::Unknown, Lifetime::Unknown];
        let lifetimes = parse_all(&FORMAT, text).into_iter().map(|request| request.lifetime);
        assert_eq!(lifetimes.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_line_that_lacks_something_or_has_too_much_is_bad() {
        for line in [
            "1,R,0",
            "1,R,0,",
            "1,X,0,4096",
            "1,R,0,4096,5",
            "x,R,0,4096",
            "1,R,-8,4096",
            "1,R,0,99999999999999999999",
            "1,R,18446744073709551615,1",
            "1,R,0,4096 trailing",
            "1,W,0,4096,brief",
            "1,W,0,4096,short,",
        ] {
            assert_eq!(bad(&FORMAT, line), line);
        }
    }
}
