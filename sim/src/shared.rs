//! A value that its copies share until one of them changes it, and that remembers what it is like until then.
//!
//! Exploring copies worlds by the hundred thousand, and most of a world stays as it was from one happening to the next.

use std::cell::OnceCell;
use std::fmt::{self, Debug};
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

use crate::canon::Canon;

/// A value that is copied when it is changed and not before.
#[derive(Default)]
pub struct Shared<T>(Rc<Inner<T>>);

#[derive(Default)]
struct Inner<T> {
    value: T,
    canon: OnceCell<Canon>,
}

impl<T: Clone> Clone for Inner<T> {
    fn clone(&self) -> Self {
        Self { value: self.value.clone(), canon: OnceCell::new() }
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}

impl<T> From<T> for Shared<T> {
    fn from(value: T) -> Self {
        Self(Rc::new(Inner { value, canon: OnceCell::new() }))
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0.value
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut T {
        let inner = Rc::make_mut(&mut self.0);
        inner.canon.take();
        &mut inner.value
    }
}

impl<T: Debug> Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: PartialEq> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0) || **self == **other
    }
}

impl<T: Debug> Shared<T> {
    /// What it is like, found out once until it is changed.
    pub fn canon(&self) -> &Canon {
        self.0.canon.get_or_init(|| Canon::of(&self.0.value))
    }
}

impl<T: Clone> Shared<T> {
    /// The value itself.
    pub fn into_inner(self) -> T {
        Rc::try_unwrap(self.0).map_or_else(|shared| shared.value.clone(), |inner| inner.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_that_is_changed_changes_no_other_and_knows_that_it_is_another() {
        let one = Shared::from(vec![1, 2]);
        let before = one.canon().clone();
        let mut two = one.clone();
        assert_eq!(*two.canon(), before);
        two.push(3);
        assert_eq!((one.len(), two.len()), (2, 3));
        assert_ne!(*two.canon(), before);
        assert_eq!(*one.canon(), before);
        two.pop();
        assert_eq!((two.canon(), &two), (&before, &one));
    }
}
