//! `find`, which executes, deletes and writes.

use super::Found;
use super::known::Access;
use super::word::Word;

impl Found {
    /// Takes the expression of `find` apart.
    pub(super) fn find(&mut self, words: &[Word]) {
        let deletes = words.iter().any(|word| word.text == "-delete");
        let mut begin = 1;
        while let Some(word) = words.get(begin) {
            begin += match word.text.as_str() {
                "-H" | "-L" | "-P" => 1,
                "-D" => 2,
                text if text.starts_with("-O") => 1,
                _ => break,
            };
        }
        let starts = words.iter().skip(begin).take_while(|word| !word.text.starts_with(['-', '(', '!', ',']));
        let starts: Vec<_> = starts.cloned().collect();
        for start in &starts {
            let access = if deletes { Access::Any } else { Access::Read };
            self.places.argument(&start.text, access, true);
        }
        let mut index = begin + starts.len();
        while let Some(word) = words.get(index) {
            index += 1;
            match word.text.as_str() {
                "-exec" | "-execdir" | "-ok" | "-okdir" => index = self.found_and_executed(words, index),
                "-fprint" | "-fprint0" | "-fls" | "-fprintf" => self.named(words.get(index), Access::Write),
                "-files0-from" => self.unsure(),
                test if test.starts_with("-newer")
                    || test == "-samefile"
                    || test == "-anewer"
                    || test == "-cnewer" =>
                {
                    self.named(words.get(index), Access::Read);
                }
                _ => {}
            }
        }
    }

    fn named(&mut self, word: Option<&Word>, access: Access) {
        if let Some(word) = word {
            self.places.argument(&word.text, access, true);
        }
    }

    /// A command up to its `;` or `+`; `{}` in it stands for what is found.
    fn found_and_executed(&mut self, words: &[Word], begin: usize) -> usize {
        let is_end = |index: &usize| {
            let text = |index: usize| words[index].text.as_str();
            text(*index) == ";" || (text(*index) == "+" && text(index - 1) == "{}")
        };
        let end = (begin..words.len()).find(is_end);
        if end.is_none() || words[begin - 1].text.ends_with("dir") {
            // Each is executed in the directory of what is found.
            self.unsure();
        }
        let end = end.unwrap_or(words.len());
        let command: Vec<_> = words[begin..end].iter().map(filled).collect();
        if !command.is_empty() {
            self.run(command);
        }
        end + 1
    }
}

fn filled(word: &Word) -> Word {
    if word.text.contains("{}") { Word::unknown(word.text.clone()) } else { word.clone() }
}
